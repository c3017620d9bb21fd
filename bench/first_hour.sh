#!/usr/bin/env bash
# Walks a newcomer's first hour with the program on three generated datasets and fails on any wrong answer: a graph with names,
# features and labels; a set of graphs; a table of molecules.
#
#   bench/first_hour.sh [PROGRAM]      default: target/release/fiedler
#
# Needs python3, without packages. Takes a minute or two.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
program=$(realpath "${1:-$root/target/release/fiedler}")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
export FIEDLER_CACHE="$place/cache"
unset FIEDLER_DATA
answers=0

fail() { echo "WRONG: $*" >&2; exit 1; }
fiedler() { "$program" --quiet "$@"; }
# check NAME FILE EXPRESSION: the expression must hold of the JSON in the file, as `it`.
check() {
  python3 - "$2" "$3" <<'PYTHON' || fail "$1: $3 does not hold of $(head -c 2000 "$2")"
import json, sys
it = json.load(open(sys.argv[1]))
sys.exit(0 if eval(sys.argv[2]) else 1)
PYTHON
  answers=$((answers + 1))
}
# refused CODE WORD ARGUMENTS…: the program fails with this exit code and says the word.
refused() {
  local code=$1 word=$2 found=0
  shift 2
  fiedler "$@" >refused.out 2>refused.err || found=$?
  [ "$found" = "$code" ] || fail "fiedler $* ended with $found instead of $code: $(cat refused.err)"
  grep -qF -- "$word" refused.err || fail "fiedler $* says nothing of $word: $(cat refused.err)"
  [ -s refused.out ] && fail "fiedler $* failed and printed a result"
  answers=$((answers + 1))
}
step() { echo "== $*"; }

step "three datasets"
python3 - <<'PYTHON'
import os, random
draw = random.Random(7)
nodes, classes = 240, 3
label = [draw.randrange(classes) for _ in range(nodes)]
name = [f"paper {(37 * node + 11) % nodes}" for node in range(nodes)]
edges = {(node, (node + 1) % nodes) for node in range(nodes)}
while len(edges) < 900:
    a, b = draw.randrange(nodes), draw.randrange(nodes)
    if a < b and (label[a] == label[b] or draw.random() < 0.1):
        edges.add((a, b))
def table(path, header, rows):
    with open(path, "w") as file:
        file.write("\n".join([header, *rows]) + "\n")
def shuffled(count):
    return draw.sample(range(count), count)
table("edges.csv", "source,target", [f"{name[a]},{name[b]}" for a, b in sorted(edges)])
words = [[int(draw.random() < (0.5 if word % classes == label[node] else 0.15)) for word in range(12)] for node in range(nodes)]
table("words.csv", "id," + ",".join(f"w{word}" for word in range(12)), [f"{name[n]}," + ",".join(map(str, words[n])) for n in shuffled(nodes)])
table("topics.csv", "id,topic", [f"{name[n]},{'art law sea'.split()[label[n]]}" for n in shuffled(nodes)])
os.mkdir("RINGS")
pairs, graph_of, kinds, first = [], [], [], 1
for graph in range(60):
    size = 5 + graph % 5
    for node in range(size):
        other = (node + 1) % size if graph % 2 == 0 else 0
        if node != other:
            pairs.append(f"{first + node}, {first + other}")
    graph_of += [str(graph + 1)] * size
    kinds.append(str(graph % 2))
    first += size
for part, lines in (("A", pairs), ("graph_indicator", graph_of), ("graph_labels", kinds)):
    with open(f"RINGS/RINGS_{part}.txt", "w") as file:
        file.write("\n".join(lines) + "\n")
rows = []
for row in range(80):
    end, word = ("O", "yes") if row % 2 == 0 else ("Cl", "no")
    # Every twentieth is no molecule.
    rows.append(f"M-{row},{'C1CC' if row % 20 == 19 else 'C' * (1 + row % 9) + end},{word}")
table("molecules.csv", "compound_id,smiles,active", rows)
PYTHON
graph=(edges.csv --features words.csv --labels topics.csv)

step "inspect"
fiedler inspect "${graph[@]}" --json >it.json
check inspect it.json 'it["nodes"] == 240 and it["edges"] == 900 and it["isolated"] == 0'
fiedler inspect RINGS --json >it.json
check inspect it.json 'it["graphs"] == 60'
fiedler inspect molecules.csv --json >it.json
check inspect it.json 'it["graphs"] == 76'
refused 4 nowhere inspect nowhere.csv

step "embed"
fiedler embed "${graph[@]}" --out nodes --embeddings npy,csv,parquet --json >nodes.json
fiedler embed RINGS --out graphs --embeddings npy,csv,parquet --json >graphs.json
fiedler embed molecules.csv --out mols --embeddings npy,csv,parquet --json >mols.json
fiedler embed "${graph[@]}" --method span --epochs 20 --hidden 32 --out span --embeddings npy,csv,parquet --json >span.json
for run in nodes graphs mols span; do
  check embed $run.json 'it["finished"] and it["result"]["scores"][0]["value"] > 0.7 and it["result"]["verdict"]'
  check embed $run.json '[s["of"] for s in it["result"]["scores"]].count("hops") <= 1 and it["result"]["expected_bytes"] > 0'
  [ -s $run/report.html ] || fail "$run has no page"
done
check embed nodes.json 'it["result"]["rows"] == 240'
check embed mols.json 'it["result"]["rows"] == 76'
refused 5 "finished run" embed "${graph[@]}" --out nodes
refused 2 memory embed "${graph[@]}" --method span --hidden 4096 --memory 0.1 --out never

step "evaluate: npy, csv and parquet score the same, and as embed said"
for pair in nodes:topics.csv graphs:RINGS mols:molecules.csv span:topics.csv; do
  run=${pair%%:*}
  for format in npy csv parquet; do
    fiedler evaluate "$run/embeddings.$format" --labels "${pair#*:}" --json >$run-$format.json
    python3 - $run.json $run-$format.json $run-npy.json <<'PYTHON' || fail "$run as $format is judged otherwise"
import json, sys
run, one, npy = (json.load(open(path)) for path in sys.argv[1:])
assert abs(one["mean"] - run["result"]["scores"][0]["value"]) < 1e-12, (one["mean"], run["result"]["scores"][0])
assert one["splits"] == npy["splits"] and one["columns"] == npy["columns"] == run["result"]["columns"]
PYTHON
    answers=$((answers + 1))
  done
done
python3 - <<'PYTHON'
import csv
topics = dict(csv.reader(open("topics.csv")))
with open("leak.csv", "w", newline="") as file:
    write = csv.writer(file).writerow
    for at, row in enumerate(csv.reader(open("nodes/embeddings.csv"))):
        write(row + ["topic" if at == 0 else "art law sea".split().index(topics[row[0]])])
PYTHON
refused 3 "to be predicted" evaluate leak.csv --labels topics.csv
cp nodes/embeddings.npy alone.npy
refused 3 "--match" evaluate alone.npy --labels topics.csv

step "a stored encoder"
fiedler embed "${graph[@]}" --encoder span/encoder.safetensors --out applied --embeddings npy,csv --json >applied.json
cmp span/embeddings.npy applied/embeddings.npy || fail "an encoder on its own data embeds otherwise"
check encoder applied.json 'it["rows"] == 240'

step "settings repeat a run, resume finds it"
fiedler settings span >it.txt
grep -q "^training.epochs = " it.txt || fail "settings does not list training.epochs"
fiedler embed --settings span/run.json --out again --json >again.json
cmp span/embeddings.npy again/embeddings.npy || fail "a run is not repeated from its record"
fiedler embed --resume --out span --json >it.json
check resume it.json 'it["finished"]'
refused 2 epochs embed --resume --out span --epochs 3
(cd / && "$program" --quiet embed --resume --out "$place/span" --json >"$place/it.json")
check "resume from elsewhere" it.json 'it["finished"]'
"$program" --quiet embed "${graph[@]}" --method span --epochs 100000 --hidden 32 --out stopped 2>stopped.err &
running=$!
for _ in $(seq 100); do [ -e stopped/run.json ] && break; sleep 0.1; done
sleep 1
kill -INT $running
code=0; wait $running || code=$?
[ $code = 130 ] || fail "an interrupted run ended with $code"
[ -s stopped/checkpoint.safetensors ] || fail "an interrupted run left no checkpoint"
grep -q -- --resume stopped.err || fail "an interrupted run does not say how to go on"
fiedler embed "${graph[@]}" --method span --epochs 100000 --hidden 32 --time 3s --out timed --no-evaluate --json >it.json
check time it.json '0 < it["result"]["epochs"] < 100000 and it["time_limit"]["epochs"] == it["settings"]["training"]["epochs"] == it["result"]["epochs"]'
fiedler embed --settings timed/run.json --out timed-again --no-evaluate --json >it.json
cmp timed/embeddings.npy timed-again/embeddings.npy || fail "a run that was given a time is not repeated from its record"

step "augment: views are read back"
for scheme in opposite uniform-removal node-dropping; do
  fiedler augment edges.csv --scheme $scheme --out scheme-$scheme --views 2 --json >it.json
  check augment it.json 'it["scheme"] == "'$scheme'" and len(it["views"]) == 2 and all(view["name"] for view in it["views"])'
  for view in scheme-$scheme/views/*.csv; do
    fiedler inspect "$view" --json >it.json
    [ $scheme = node-dropping ] || check "a view read back" it.json 'it["nodes"] == 240'
  done
  fiedler report scheme-$scheme --data edges.csv --out scheme-$scheme.html
done
refused 2 --eigenvalues augment edges.csv --scheme subgraph --eigenvalues 3

step "report"
fiedler report nodes span --out comparison.html --figures pictures --json >it.json
check report it.json 'len(it["pictures"]) >= 2'
fiedler report "${graph[@]}" --out graph.html
for page in nodes/report.html comparison.html graph.html; do
  grep -q '</html>' $page || fail "$page is not whole"
  grep -qE 'src="https?:|href="https?:' $page && fail "$page needs the network"
done
grep -q "recipe default-nodes, seed 0" nodes/report.html || fail "the page does not say where it comes from"

step "convert and back"
for format in graphml npz csv; do
  fiedler convert "${graph[@]}" back.$format
  fiedler inspect back.$format --json >it.json
  check "convert to $format" it.json 'it["nodes"] == 240 and it["edges"] == 900'
done

step "tune"
fiedler tune "${graph[@]}" --method dgi --budget 3 --epochs 5 --out tuned --json >it.json
[ -s tuned/best.toml ] || fail "a search left no settings"
fiedler embed "${graph[@]}" --settings tuned/best.toml --out of-tuned --json >it.json
check tune it.json 'it["result"]["epochs"] <= 5'

step "data, and mistakes"
fiedler data list >it.txt
grep -q cora it.txt || fail "cora is not listed"
refused 2 '"kind":"usage"' embed --method cake --json
refused 4 '"exit_code":4' inspect nowhere.csv --json

echo "first hour: $answers answers are right"
