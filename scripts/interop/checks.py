"""Counts checks, and prints a line for each."""


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, holds, claim, detail=""):
        """Prints `detail`, the value found, for passed and failed checks."""
        self.passed += bool(holds)
        self.failed += not holds
        print(f"{'ok    ' if holds else 'FAILED'} {claim}{': ' if detail else ''}{detail}", flush=True)
        return bool(holds)

    def none(self, wrong, claim, detail=""):
        """`wrong` lists what contradicts the claim."""
        return self.check(not wrong, claim, "; ".join(map(str, wrong[:3])) + (f" and {len(wrong) - 3} more" if len(wrong) > 3 else "") or detail)

    def stage(self, function, *arguments, **settings):
        """Runs one part; an exception is a failed check, and the next part begins."""
        try:
            return function(self, *arguments, **settings)
        except Exception as trouble:  # A reader that refuses our file is the finding, with any exception.
            self.check(False, function.__name__.replace("_", " "), f"{type(trouble).__name__}: {trouble}")
            return None
