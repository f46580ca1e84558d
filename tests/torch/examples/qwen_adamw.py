"""Three training steps of Qwen2.5-1.5B (random weights: nothing is downloaded) with AdamW.

Usage: qwen_adamw.py [BATCH]    sequences of 256 tokens; 2 if not given
"""

import sys

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

SEQUENCE_LENGTH = 256
batch = int(sys.argv[1]) if len(sys.argv) > 1 else 2

config = Qwen2Config(
    hidden_size=1536,
    intermediate_size=8960,
    num_hidden_layers=28,
    num_attention_heads=12,
    num_key_value_heads=2,
    vocab_size=151936,
    tie_word_embeddings=True,
)
with torch.device("cuda"):
    model = Qwen2ForCausalLM(config)
optimizer = torch.optim.AdamW(model.parameters())
print("parameters", sum(parameter.numel() for parameter in model.parameters()))

for _ in range(3):
    tokens = torch.randint(0, config.vocab_size, (batch, SEQUENCE_LENGTH), device="cuda")
    logits = model(tokens).logits
    loss = logits.sum()  # stands for a real loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

print("max_memory_allocated", torch.cuda.max_memory_allocated())
print("max_memory_reserved", torch.cuda.max_memory_reserved())
