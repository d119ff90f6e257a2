// troupe completions: prints the script with which a shell completes command lines, and the words that the script asks
// for.
#include "cli/commands/commands.hpp"
#include "cli/configuration/nearest.hpp"
#include "cli/reference/complete.hpp"
#include "cli/terminal/output.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace troupe::cli {

namespace {

constexpr const char* about = "Prints the script with which a shell completes commands, flags, and the keys of --set.";
constexpr const char* usage = R"(
An installed Troupe has the three scripts where the shells look for them. From a build:
  source <(troupe completions bash)
  source <(troupe completions zsh)       after compinit
  troupe completions fish | source

The scripts ask `troupe completions words WORD...` what can stand in place of the last WORD. It prints a word a line,
with its purpose behind a tab; the lines :files and :directories stand for those of the shell.

Exit status:
  0    printed
  2    misuse: another shell
)";

// bash also breaks words at = and :, and replaces only the part after the last of them.
constexpr std::string_view bash_script =
    R"sh(# Completions of troupe for bash, printed by `troupe completions bash`. The program says what can follow.
_troupe() {
  local line=${COMP_LINE:0:COMP_POINT} words=() word
  read -ra words <<<"$line"
  [[ $line != *[[:space:]] ]] || words+=("")
  local typed=${words[-1]#[\"\']} before=""
  words[-1]=$typed
  [[ $COMP_WORDBREAKS != *=* || $typed != *=* ]] || before=${typed%=*}=
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    case $word in
      :files)       compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "${typed#"$before"}") ;;
      :directories) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "${typed#"$before"}") ;;
      *)            COMPREPLY+=("${word#"$before"}") ;;
    esac
  done < <("${COMP_WORDS[0]/#\~/$HOME}" completions words "${words[@]:1}" 2>/dev/null)
  [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}
complete -F _troupe troupe
)sh";

constexpr std::string_view zsh_script = R"sh(#compdef troupe
# Completions of troupe for zsh, printed by `troupe completions zsh`. The program says what can follow.
_troupe() {
  local -a closed open
  local line word
  for line in "${(@f)$("${(Q)words[1]}" completions words "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
    case $line in
      ('') ;;
      (:files) _files ;;
      (:directories) _files -/ ;;
      (*)
        word=${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}
        if [[ ${line%%$'\t'*} == *= ]]; then open+=("$word"); else closed+=("$word"); fi
        ;;
    esac
  done
  (( $#closed )) && _describe troupe closed
  (( $#open )) && _describe troupe open -S ''
}
if [[ ${funcstack[1]} == _troupe ]]; then
  _troupe "$@"
else
  compdef _troupe troupe
fi
)sh";

constexpr std::string_view fish_script =
    R"sh(# Completions of troupe for fish, printed by `troupe completions fish`. The program says what can follow.
function __troupe_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    for line in ($words[1] completions words $words[2..-1] "$typed" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$typed"
            case ':directories'
                __fish_complete_directories "$typed"
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c troupe -f -a '(__troupe_complete)'
)sh";

struct invocation {
  std::string shell;
};

void add_arguments(command_arguments& known, invocation& r) {
  known.word("SHELL", r.shell, "bash, zsh or fish", {"bash", "zsh", "fish"});
}

constexpr own_command<invocation> command{"completions", about, usage, add_arguments};

}  // namespace

command_description describe_completions() { return command.description(); }

std::vector<command_description> describe_commands() {
  std::vector<command_description> all;
  for (const auto& one : command_summaries())
    all.push_back(one.name == "serve"         ? describe_serve()
                  : one.name == "inspect"     ? describe_inspect()
                  : one.name == "checkpoints" ? describe_checkpoints()
                  : one.name == "top"         ? describe_top()
                  : one.name == "convert"     ? describe_convert()
                  : one.name == "completions" ? describe_completions()
                  : one.name == "help"        ? describe_help()
                                              : describe_job_command(one.name));
  return all;
}

int completions(const std::vector<std::string>& arguments, console_printer& console) {
  if (!arguments.empty() && arguments.front() == "words") {  // The words belong to another command and are not parsed.
    write_output(to_text(complete(describe_commands(), {arguments.begin() + 1, arguments.end()})));
    return succeeded;
  }
  const auto r = command.read(arguments, console);
  if (!r)
    return r.error();
  const std::pair<std::string_view, std::string_view> scripts[] = {
      {"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
  for (const auto& [shell, script] : scripts)
    if (r->shell == shell) {
      write_output(script);
      return succeeded;
    }
  const auto message = r->shell.empty() ? "completions takes bash, zsh or fish"
                                        : fmt::format("completions takes bash, zsh or fish, not {}{}", r->shell,
                                                      did_you_mean(nearest(r->shell, {"bash", "zsh", "fish"})));
  return usage_failure(console, misuse("completions", message).value());
}

}  // namespace troupe::cli
