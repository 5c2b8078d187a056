"""Formats of files that are not GGUF, recognised by their first bytes."""

from __future__ import annotations

MAGIC = b"GGUF"
_BEFORE_GGUF = (b"tjgg", b"fmgg", b"lmgg")  # ggjt, ggmf, ggml as little-endian numbers
_ZIP = b"PK\x03\x04"
_LFS_POINTER = b"version https://git-lfs"
_WEB_PAGE = (b"<!doctype", b"<html", b"<?xml")
_SAFETENSORS_HEADER = b'{"'  # after eight bytes with its length


def foreign_format(head: bytes) -> str:
    """Return the format that a file's first bytes (some hundred) show, and what to do about it."""
    if head.startswith(_LFS_POINTER):
        return "it is a Git LFS pointer, which only names the file; fetch the file itself with 'git lfs pull'"
    if head.lstrip().lower().startswith(_WEB_PAGE):
        return "it is a web page; use the link that downloads the file, not the one that shows it"
    if head[8:10] == _SAFETENSORS_HEADER:
        return "it looks like safetensors; convert the model with llama.cpp's convert_hf_to_gguf.py"
    if head.startswith(_ZIP):
        return "it is a zip archive or a PyTorch checkpoint; unpack it, or convert the model to GGUF"
    if head.startswith(_BEFORE_GGUF):
        return "it has the GGML format from before August 2023; convert the model again, or look for a newer file"
    return f"it begins with {head[:4]!r}, expected {MAGIC!r}; give the path of a GGUF file"
