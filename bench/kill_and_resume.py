"""Kills a run with SIGKILL at a random moment, resumes it, and compares all bytes with those of a run that was left alone.

kill_and_resume.py [TIMES [DATA [FLAGS …]]], by default 20 times on the built-in graph. Prints at which epoch each run was killed.
"""
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent / "compare"))
import program  # noqa: E402

FILES = ["embeddings.npy", "encoder.safetensors", "scheme.safetensors", "losses.csv"]


def contents(run):
    return [(run / name).read_bytes() for name in FILES]


def epochs_saved(run):
    """How many epochs the checkpoint holds, from the note in its header."""
    checkpoint = run / "checkpoint.safetensors"
    if not checkpoint.exists():
        return 0
    data = checkpoint.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    notes = [json.loads(note) for note in header["__metadata__"].values() if note.startswith("{")]
    return next((len(note["history"]["losses"]) for note in notes if "history" in note), 0)


def main():
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    data = sys.argv[2] if len(sys.argv) > 2 else "citation"
    flags = sys.argv[3:] or ["--recipe", "span-small", "--checkpoint-every", "3"]
    fiedler = str(program.build())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started = time.monotonic()
        subprocess.run([fiedler, "embed", data, *flags, "--out", folder / "whole"], check=True, **quiet)
        took = time.monotonic() - started
        expected = contents(folder / "whole")
        for at in range(times):
            run = folder / f"run-{at}"
            while True:
                child = subprocess.Popen([fiedler, "embed", data, *flags, "--out", run], **quiet)
                time.sleep(random.uniform(0.05, 0.95) * took)
                child.send_signal(signal.SIGKILL)
                child.wait()
                # One that had not begun or had ended already was not killed at work.
                record = run / "run.json"
                if record.exists() and not json.loads(record.read_text())["finished"]:
                    break
                subprocess.run(["rm", "-rf", run], check=True)
            saved = epochs_saved(run)
            subprocess.run([fiedler, "embed", "--resume", "--out", run], check=True, **quiet)
            same = contents(run) == expected
            left = sorted(path.name for path in run.iterdir()) == sorted(path.name for path in (folder / "whole").iterdir())
            print(f"run {at + 1}: killed with {saved} epochs saved, resumed: {'the same bytes' if same and left else 'DIFFERENT'}", flush=True)
            if not (same and left):
                sys.exit(1)
        print(f"{times} of {times} ended with the same bytes")


if __name__ == "__main__":
    main()
