#include "messages/control.hpp"
#include "pipeline/launch/launch.hpp"

namespace troupe {

void running_job::save() { ask(request::save, false); }
void running_job::stop(bool by_signal) { ask(request::stop, by_signal); }
void running_job::pause() { ask(request::pause, false); }
void running_job::resume() { ask(request::resume, false); }
void running_job::abort() { ask(request::abort, false); }

}  // namespace troupe
