/** What holds for every command; the beginning of the reference. */
export const GUIDE = `# The command line

<!-- Generated from the contract and the commands: change those, then run "npm run generate". -->

\`ctl <noun> <verb>\`: nouns are plural, their singular works too. \`--help\` explains each command.

## Naming things

Where a command takes an object, give its name, its whole id, or six or more digits of either end of its id: ids of one
day begin alike, so tables show their end. Several objects may follow one another, and \`-\` reads them from stdin, one a
line. A text that fits several objects exits 2 and lists them. Subjects are \`user:NAME\`, \`service:NAME\`,
\`group:NAME\`, or \`me\`.

Names are looked up in a Domain and, for resources, in a Project: the one of \`--domain\` and \`--project\`, else the
settings below, else your own Domain and its only Project.

\`ctl completion install\` lets bash, zsh or fish complete commands, flags, and the names of objects where a command
takes one; ids once four of their digits are typed. Names are asked for with your credential and kept for seconds in
\`$XDG_CACHE_HOME/ctl\`, else \`~/.cache/ctl\`; after 300 ms without an answer, or what
\`CTL_COMPLETION_TIMEOUT\` says, nothing is offered.

## Output

Data goes to stdout, everything else to stderr. On a terminal lists are tables with times relative to now and ids cut to
their end; in a pipe they are tab-separated, whole, with RFC 3339 times. \`-o json\` is the shape of the API itself:
a list is \`{"items": […], "next_cursor": …}\`. \`--jq\` filters it, texts come out raw. An empty list is no error.
A list shows 50 rows and says when there are more: \`--limit N\` and \`--all\`.

## Contexts and settings

A context is a server with the choices that go with it; \`ctl login\` makes one. Each setting comes from a flag, else the
environment, else \`.ctl.yaml\` here or in a directory above, else the context, else a default.
\`ctl config view --show-origin\` says which.

| setting | flag | environment | \`.ctl.yaml\` |
|---|---|---|---|
| context | \`--context\` | \`CTL_CONTEXT\` | \`context\` |
| server | \`--url\` | \`CTL_URL\` | never |
| token | \`--token-file\` | \`CTL_TOKEN\`, \`CTL_TOKEN_FILE\` | never |
| Domain | \`--domain\` | \`CTL_DOMAIN\` | \`domain\` |
| Project | \`--project\` | \`CTL_PROJECT\` | \`project\` |
| format | \`--output\` | \`CTL_OUTPUT\` | \`output\` |
| deadline | \`--timeout\` | \`CTL_TIMEOUT\` | never |
| certificate authority | \`--ca-file\` | \`CTL_CA_FILE\` | never |

Contexts are kept in \`$CTL_CONFIG_DIR\`, else \`$XDG_CONFIG_HOME/ctl\`, else \`~/.config/ctl\`: \`config.json\`, and the
tokens in \`credentials.json\`, which only you can read. A token goes only to the server that it was stored for, whatever
\`--url\` says. A token on the command line is refused, since other users of a machine can see it there. \`.ctl.yaml\` may
choose among your contexts but name no server: a file from somebody's repository must not decide where your token goes.

A protected context (\`ctl contexts use NAME --protected\`) asks before every change; in scripts name it and agree:
\`--context NAME --yes\`.

## Questions

Commands ask only when a person sits in front: stdin and stderr are terminals and neither \`--no-input\`,
\`CTL_NO_INPUT\` nor \`CI\` is set. Otherwise they fail at once and name the flag that is missing. What destroys something
shows it first and asks; \`--yes\` agrees beforehand.

## When it fails

An error says what failed and why, then what to do next, then \`code=… status=… correlation_id=…\`: the server's log has
its reason under that id. With \`-o json\` the error is one JSON object on stderr.

Calls that may be repeated without harm (GET, PUT, DELETE, and what the contract declares so) are tried again after a broken
connection, 429, 502, 503 and 504, with growing random pauses on top of \`Retry-After\`, within \`--timeout\`. Nothing else is
ever sent twice. \`--debug\` shows each try, \`--trace\` headers and bodies without secrets, \`--curl\` the
curl command that sends the same request; it takes the token from \`CTL_TOKEN\`.

Every answer is compared with what its operation answers. Where another web server answers, the error is "… is not a ctl
server", with exit code 8.`
