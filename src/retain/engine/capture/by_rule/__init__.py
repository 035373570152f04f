"""What a model should not decide: whose words they are, what is planted, asked for, taken back, or mended a failure."""
