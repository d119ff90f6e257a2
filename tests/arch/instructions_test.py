"""Our code depends neither on the maker of the processor nor on the C library.

Usage: instructions_test.py PLANTED LIBRARY...     PLANTED has what is forbidden, and each piece of it must be found.

Approximate reciprocals (rsqrtps, rcpss, vrsqrt14ps ...) have other bits at each maker's, and functions such as exp or pow are chosen by
glibc for the processor at hand. Libraries are read with objdump and nm, which come with the compiler.
"""
import re
import subprocess
import sys

# A function's first line, or an instruction that only approximates, whatever prefixes it has.
LINE = re.compile(r"^[0-9a-f]+ <(.*)>:$|^\s+[0-9a-f]+:\t(?:(?:lock|rep\w*|bnd|notrack|data16|cs|ds) )*(v?(?:rsqrt|rcp)\w*)", re.MULTILINE)
# Functions whose last bit IEEE 754 leaves open; each as float, double or long double. Rounding, remainders and roots are exact.
INEXACT = re.compile(r"\b((?:exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|cbrt|hypot|sin|cos|tan|sincos|asin|acos|atan|atan2|sinh|cosh|tanh|asinh"
                     r"|acosh|atanh|erf|erfc|tgamma|lgamma|lgamma_r)[fl]?)(?:@\S+)?$", re.MULTILINE)


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def approximations(library):
    """'MNEMONIC in FUNCTION' for each; how many functions were looked at."""
    functions, found = [], []
    for function, mnemonic in LINE.findall(output_of("objdump", "-d", "--no-show-raw-insn", library)):
        if function:
            functions.append(function)
        else:
            found.append((mnemonic, functions[-1] if functions else "?"))
    names = output_of("c++filt", *[function for _, function in found]).splitlines() if found else []
    return [f"{mnemonic} in {name}" for (mnemonic, _), name in zip(found, names)], len(functions)


def inexact_functions(library):
    return sorted(set(INEXACT.findall(output_of("nm", "--undefined-only", *(["-D"] if ".so" in library else []), library))))


def main():
    planted, *libraries = sys.argv[1:]
    trouble = []
    found, _ = approximations(planted)
    mnemonics = sorted(entry.split()[0] for entry in found)
    if mnemonics != ["rcpss", "vrcp14ps", "vrcpps", "vrsqrt14pd", "vrsqrtps"] or not all("planted" in entry for entry in found):
        trouble.append(f"of what was planted only this was found: {found}")
    if inexact_functions(planted) != ["powf", "tanh"]:
        trouble.append(f"of tanh and powf, which were planted, this was found: {inexact_functions(planted)}")
    for library in libraries:
        found, functions = approximations(library)
        if functions < 1000:
            trouble.append(f"{library} has {functions} functions only: it was not read whole")
        trouble += [f"{library}: {entry}" for entry in found]
        trouble += [f"{library}: calls {name} of the C library; compute/kernels/elementary.hpp has one of ours" for name in inexact_functions(library)]
    print("\n".join(trouble) or f"{len(libraries)} libraries without approximate instructions and inexact functions")
    return bool(trouble)


if __name__ == "__main__":
    sys.exit(main())
