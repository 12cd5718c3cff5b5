# Counts the test cases of one JUnit XML file; prints "passed failed skipped".
{ text = text $0 "\n" }
END {
  # What a test printed may look like XML.
  while (start = index(text, "<![CDATA[")) {
    rest = substr(text, start)
    end = index(rest, "]]>")
    text = substr(text, 1, start - 1) (end ? substr(rest, end + 3) : "")
  }
  cases = split(text, part, /<testcase[ >]/)
  for (i = 2; i <= cases; i++) {
    if (part[i] ~ /<(failure|error)[ >\/]/) failed++
    else if (part[i] ~ /<skipped[ >\/]|status="notrun"/) skipped++
    else passed++
  }
  print passed + 0, failed + 0, skipped + 0
}
