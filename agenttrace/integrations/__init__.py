"""Calls of other libraries become spans: model providers, LangGraph, UiPath. Imported on use."""
