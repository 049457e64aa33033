"""Health and models."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel


class Health(BaseModel):
    version: str
    status: str


class ModelState(BaseModel):
    """A model for answers."""

    handle: str
    name: str
    display_name: str
    model: str
    model_type: Literal["llm"] = "llm"
    model_endpoint_type: Literal["openai"] = "openai"
    model_endpoint: str | None = None
    provider_type: Literal["openai"] = "openai"
    provider_name: str
    provider_category: str = "base"
    context_window: int
    max_context_window: int


class EmbeddingModelState(BaseModel):
    """A model for embeddings."""

    handle: str
    name: str
    display_name: str
    model_type: Literal["embedding"] = "embedding"
    embedding_model: str
    embedding_endpoint_type: Literal["openai"] = "openai"
    embedding_endpoint: str | None = None
    embedding_dim: int
    provider_type: Literal["openai"] = "openai"
    provider_name: str
