"""What a model should not decide: whose words they are, what is planted, what was asked for or taken back in so many
words, what was seen to mend a failure; and how a sentence becomes a statement."""
