"""A process that evaluates 2,000 examples, or goes on with the run that another one of it began."""

import sys
import time
from pathlib import Path

from agenttrace import Example, ToolOrderScorer, Tracer, run_evaluation

EXAMPLES = 2_000
tracer = Tracer("killed", store=sys.argv[1])
ran = open(sys.argv[2], "a", buffering=1)  # noqa: SIM115 - open until the process is killed


@tracer.observe(span_type="tool")
def look_up(number):
    return {"number": number}


@tracer.observe(span_type="agent")
def agent(number):
    ran.write(f"{number}\n")
    time.sleep(0.002)
    look_up(number)
    return number


def main():
    examples = [
        Example(
            input={"number": number},
            expected_tools=[{"tool_name": "look_up", "arguments": {"number": number}}],
        )
        for number in range(EXAMPLES)
    ]
    resume = sys.argv[3] if len(sys.argv) > 3 else None
    report = run_evaluation(
        examples, [ToolOrderScorer()], function=agent, tracer=tracer, concurrency=2, resume=resume
    )
    tracer.flush()
    print(report.run_id, report.counts["passed"], len(report), flush=True)


if __name__ == "__main__":
    Path(sys.argv[2]).touch()
    main()
