"""Tuning and campaigns on a local Ray cluster of two workers; skipped where Ray is not installed."""

import json
import sys
from pathlib import Path

import pytest

import gcn_tools as gcn
from gcn_tools import cluster

ray = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def workers():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def candidate(folder: Path, name: str, words: int, **more):
    (folder / f"{name}.hsaco").write_bytes(gcn.asm(gcn.DOUBLE))
    spec = {"args": {"x": {"buffer": "u32", "count": words}}, "grid": words // 64, "workgroup": 64}
    file = {"object": f"{name}.hsaco", "name": "double", "problem": [words], "long": spec, **more}
    (folder / f"{name}.tune.json").write_text(json.dumps(file))
    return spec


def test_candidates_are_measured_by_two_workers_and_not_again(workers, tmp_path):
    specs = {words: candidate(tmp_path, f"d{words}", words) for words in (64, 128, 256, 512)}
    candidate(tmp_path, "steady", 1024, short=specs[64], parameters={"form": "steady"})
    candidate(tmp_path, "wrong", 2048, kernel="missing")
    output = tmp_path / "table.json"
    seen = []
    table = cluster.tune([tmp_path], output, progress=lambda done, all: seen.append((done, all)))
    assert seen == [(n, 6) for n in range(7)]
    assert json.loads(output.read_text()) == table

    # The results are those of sequential runs in this process.
    def alone(words):
        run = gcn.sim(gcn.asm(gcn.DOUBLE), specs[words]["args"], grid=words // 64, workgroup=64, timed=True, cus=1)
        return run.timed["cycles"]

    outcomes = {entry["variant"]["problem"][0]: entry["outcome"] for entry in table}
    for words in specs:
        assert outcomes[words] == {"cycles": alone(words)}
    assert 0 < outcomes[1024]["cycles"]
    assert "missing" in outcomes[2048]["error"]

    # Variants in the table are not measured again: even an impossible result is kept.
    table[0]["outcome"] = {"cycles": 7}
    output.write_text(json.dumps(table))
    assert cluster.tune([tmp_path], output)[0]["outcome"] == {"cycles": 7}


def test_parts_of_a_campaign_fail_on_their_own_and_resume(workers, tmp_path, capfd):
    output = tmp_path / "campaign.json"
    script = "import os, sys; print(os.environ['SEED'], sys.argv[1]); sys.exit(int(sys.argv[1]) == 3)"
    command = [sys.executable, "-c", script, "{i}"]
    results = cluster.campaign(command, 4, output, environment={"SEED": "{i}00"})
    assert [r["exit"] for r in results] == [0, 0, 0, 1]
    assert [r["output"] for r in results] == ["000 0\n", "100 1\n", "200 2\n", "300 3\n"]

    # With two more parts, the results of the first four are kept.
    assert cluster.main(["run", "6", "-o", str(output), "--env", "SEED=new", "--", *command]) == 1
    after = json.loads(output.read_text())
    assert after[:4] == results
    assert [r["output"] for r in after[4:]] == ["new 4\n", "new 5\n"]
    assert "6 parts, 1 failed" in capfd.readouterr().out


def test_candidates_that_cannot_be_read_are_named(tmp_path):
    (tmp_path / "a.tune.json").write_text("{}")
    with pytest.raises(gcn.Error, match="a.tune.json.*object"):
        cluster.tune([tmp_path / "a.tune.json"], tmp_path / "table.json")
    with pytest.raises(gcn.Error, match="there is no"):
        cluster.candidates([Path(__file__).parent])
