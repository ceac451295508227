// The reader of standard output goes away: SIGPIPE, and no more noise than without the tool.
// EXPECT any
// SHELL $RUN 2>/dev/null | head -1
for number in 0..<100_000 { print("line", number) }
