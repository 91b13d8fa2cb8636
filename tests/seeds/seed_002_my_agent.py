# ruff: noqa
# fmt: off
from agenttrace import Tracer
from agenttrace import wrap
from agenttrace.judges import AnswerRelevancyScorer
from agenttrace import Example
from openai import OpenAI
client = wrap(OpenAI())
judgment = Tracer(project_name="my_project")
@judgment.observe(span_type="tool")
def my_tool():
    return "Hello world!"
@judgment.observe(span_type="function")
def main():
    task_input = my_tool()
    res = client.chat.completions.create(
        model="gpt-4.1",
        messages=[{"role": "user", "content": f"{task_input}"}]
    ).choices[0].message.content
    judgment.async_evaluate(
        scorers=[AnswerRelevancyScorer(threshold=0.5)],
        example=Example(
            input=task_input,
            actual_output=res
        ),
        model="gpt-4.1"
    )
    return res
main()
