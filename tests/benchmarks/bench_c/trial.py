"""A small valid configuration of Bench-C that tests change, with the catalogues of tests/config."""

CONFIG = """
benchmark: bench-c
name: trial
seed: 1
catalogues: {sources: sources.yaml, models: models.yaml}
sources: [drawn-text, drawn-charts]
pool: {per_task: 4, total: null}
corruptions:
  {suite: imagenet-c, engine: benchc, corrupted: files, alpha: drop,
   types: [snow, fog, pixelate], severities: [1, 3, 5]}
inference: {corruptions_per_job: all}
selectors: [small]
targets: [large, small]
selection:
  alpha_kappa: 1
  alpha_diversity: 1.0
  image_encoder: {name: trained}
  text_encoder: all-MiniLM-L6-v2
  score: at_pick
scores: {allow_missing: false}
diagnostics: {random_subset: 7, option_order: null}
tables: {bootstrap: {draws: 100, rank_draws: 100, seed: 0}, table2: {centring: none}}
figures:
  figure3: {target: small}
  figure4: {target: large, corruption: snow, severity: 5}
  figure5: {target: large}
demo: {seed: 1, training_set: {items_per_category: 2}, image_encoder: {steps: 3}}
"""
