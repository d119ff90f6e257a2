#pragma once
namespace troupe { struct run_config {}; }
