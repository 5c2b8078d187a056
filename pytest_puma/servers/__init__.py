"""Requests to responses by an OpenAI-compatible server: llama.cpp, vLLM, SGLang, Ollama, hosted ones."""
