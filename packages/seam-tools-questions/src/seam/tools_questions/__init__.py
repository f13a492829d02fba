"""A tool that asks the person at the door."""

from seam.tools_questions._plugin import QuestionsConfig, question_tool, questions

__all__ = ["QuestionsConfig", "question_tool", "questions"]
