/** The beginning of `docs/cli.md`: first steps, then the rules that hold for every command. */
export const GUIDE = `# The command line

<!-- Generated from the contract and the commands: change those, then run "npm run generate". -->

Commands have the form \`ctl <noun> <verb>\`. Nouns are plural; the singular works, too. \`--help\` explains each command. The
[glossary](glossary.md) explains the terms.

## First steps

| to | run |
|---|---|
| install the command | \`npm install --global ctl-mesh\` ([quickstart](quickstart.md)) |
| sign in to a server | [\`ctl login --url https://mesh.example.com\`](#ctl-login) |
| check the connection and your identity | [\`ctl status\`](#ctl-status) |
| add the first node | [\`ctl join-tokens create\`](#ctl-join-tokens-create), then start its agent ([nodes](nodes.md#enrol)) |
| see the nodes | [\`ctl nodes list\`](#ctl-nodes-list) |
| complete names and flags with Tab | [\`ctl completion install\`](#ctl-completion-install) |
| say which nodes reach each other | [\`ctl policies create\`](#ctl-policies-create) ([policies](policies.md)) |
| let people in, publish a service, connect another site | [\`ctl bridge user-access create\`](#ctl-bridge-user-access-create) and others ([bridges](bridge.md)) |
| find the cause of a failure | [\`ctl doctor\`](#ctl-doctor) |

## Names of objects

Where a command takes an object, give its name, its whole id, or at least six digits from the beginning or the end of its
id. Ids of one day begin alike, so tables show the end. Many commands take several objects; \`-\` reads them from stdin, one
per line. If a text matches several objects, the command lists them and exits with 2. Subjects are \`user:NAME\`,
\`service:NAME\`, \`group:NAME\`, or \`me\`.

Names are looked up in one Domain and, for resources, in one Project: those of \`--domain\` and \`--project\`, else those of
the [settings](#contexts-and-settings), else your own Domain and its only Project.

Where a command takes several objects, \`-l SELECTOR\` picks them by their labels instead: \`-l 'env=prod,tier in (web,api)'\`.
[Labels and selectors](labels.md) has the grammar. A selector that cannot be read is underlined and exits with 2. Labels are
\`env\` for the nearest one that is defined, or \`platform/env\`, \`domain:acme/env\`, \`project:web/env\`; objects with labels are
\`KIND:NAME\`, such as \`node:web-1\`.

\`ctl completion install\` lets bash, zsh or fish complete commands, flags, names of objects and labels, and ids from their fourth
digit on. The shell requests names with your credential and caches them for some seconds in \`$XDG_CACHE_HOME/ctl\`, else
\`~/.cache/ctl\`. It offers nothing if the server does not answer within 300 ms; \`CTL_COMPLETION_TIMEOUT\` changes this.

## Output

Data goes to stdout, everything else to stderr. On a terminal, lists are tables with relative times and shortened ids. In a
pipe they are tab-separated, with whole ids and RFC 3339 times. \`-o json\` prints the API's own format: a list is
\`{"items": […], "next_cursor": …}\`. \`--jq\` filters it and prints strings without quotes. An empty list is no error.
A list shows 50 rows and a note when there are more: use \`--limit N\` or \`--all\`.

## Contexts and settings

A context is a server with its settings; \`ctl login\` creates one. Each setting comes from a flag, else the environment, else
\`.ctl.yaml\` in this directory or one above, else the context, else a default. \`ctl config view --show-origin\` shows the
source of each.

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
| its SHA-256 | \`--ca-sha256\` of \`login\` and \`contexts\` | \`CTL_CA_SHA256\` | never |

Contexts are stored in \`$CTL_CONFIG_DIR\`, else \`$XDG_CONFIG_HOME/ctl\`, else \`~/.config/ctl\`: \`config.json\`, and the
tokens in \`credentials.json\`, which only you can read. A token is sent only to the server that it was stored for, even with
another \`--url\`. A token on the command line is refused, since other users of the machine can read it there. \`.ctl.yaml\`
may choose one of your contexts but no server: a file in a repository must not decide where your token goes.

In a protected context (\`ctl contexts use NAME --protected\`) every change asks for confirmation. In scripts, name the
context and confirm: \`--context NAME --yes\`.

## Questions

Commands ask questions only if stdin and stderr are terminals and neither \`--no-input\`, \`CTL_NO_INPUT\` nor \`CI\` is set.
Otherwise they fail at once and name the missing flag. A command that deletes something shows it first and asks; \`--yes\`
skips the question.

## Errors and retries

An error message contains what failed and why, what to do next, and \`code=… status=… correlation_id=…\`: the server's log
has the cause under that id. With \`-o json\` the error is one JSON object on stderr.

Idempotent calls (GET, PUT, DELETE, and others that the contract declares idempotent) are retried after a lost connection,
429, 502, 503 and 504, with growing random pauses on top of \`Retry-After\`, within \`--timeout\`. Other calls are never sent
twice. \`--debug\` shows each attempt, \`--trace\` headers and bodies without secrets, \`--curl\` the equivalent curl command,
which takes the token from \`CTL_TOKEN\`.

The client checks that each answer has the format of its operation. If another web server answers, the error is "… is not a
ctl server", with exit code 8.`
