import { envOf, fileKeyOf, flagOf, optionOf, OPTION_NAMES, type OptionName } from './options.ts'

const WIDTH = 100

/** What `ctl serve --help` prints. */
export function helpText(): string {
  const rows = OPTION_NAMES.filter((name) => optionOf(name).notInArgv === undefined).map((name) => ({
    left: `  ${flagOf(name)}${optionOf(name).placeholder === undefined ? '' : ` ${optionOf(name).placeholder}`}`,
    right: sentence(name),
  }))
  const column = Math.max(...rows.map(({ left }) => left.length)) + 2
  const lines = rows.map(
    ({ left, right }) => left.padEnd(column) + wrap(right, WIDTH - column).join(`\n${' '.repeat(column)}`),
  )
  return [
    'Serves the control plane.',
    '',
    'Usage: ctl serve [flags]',
    '',
    'Flags:',
    ...lines,
    '  -h, --help'.padEnd(column) + 'Print this',
    '',
    'Each flag is also an environment variable (--ops-listen: SERVICE_OPS_LISTEN) and a key of the',
    '--config file (ops_listen). A flag wins over a variable, a variable over the file.',
    '',
  ].join('\n')
}

/** `docs/configuration.md`. */
export function configurationPage(): string {
  const rows = OPTION_NAMES.map((name) => {
    const { describe, notInArgv } = optionOf(name)
    const flag = notInArgv === undefined ? `\`${flagOf(name)}\`` : '(none: a secret)'
    const key = name === 'config' ? '(none)' : `\`${fileKeyOf(name)}\``
    return `| ${flag} | \`${envOf(name)}\` | ${key} | ${fallbackCell(name)} | ${escaped(describe)} |`
  })
  return `# Configuration

<!-- Generated from src/server/config/options.ts by \`npm run generate\`. -->

\`ctl serve\` reads flags, environment variables and, with \`--config FILE\`, a YAML or JSON file; a flag wins over a variable,
a variable over the file, the file over the default. Names are checked: an unknown flag, an unknown \`SERVICE_…\` variable or an
unknown key stops the start with the nearest name that exists. \`ctl serve --check\` judges a configuration and starts nothing.

| Flag | Variable | File key | Default | Meaning |
|---|---|---|---|---|
${rows.join('\n')}

## Rules

- Lists are separated by commas; in the file they may also be lists.
- In the file, keys with a common prefix may be grouped in a section of that name: \`rate_limit: {node: 20/s, reads: 0}\`.
- A rate is \`10/s\`, \`30/min\` or \`500/h\`, all of which may come at once; 0 is no limit. Every replica counts for itself.
- A duration is \`30s\`, \`1m30s\` or \`500ms\`; 0 is none.
- Switches are set by their flag alone, or by \`true\` and \`false\`. The flag of one that is on begins with \`--no-\`; its variable and
  key do not: \`SERVICE_BUNDLED_PROVIDER=false\`.
- Secrets are never taken from the command line, where every user of the machine can read them: the master key comes from a
  variable or a file, and a database URL with a password from \`SERVICE_DATABASE_URL\`, the file or \`.pgpass\`.
- Plain HTTP is served on loopback only, unless \`--trusted-proxies\` names the proxy that ends TLS or \`--insecure-http\` is given.
- \`--tls-self-signed\` excludes \`--tls-cert\` and \`--dev\`: see [TLS without a certificate](#tls-without-a-certificate).
- \`--nats-url\` takes no credentials; they are read from \`--nats-credentials-file\` at every connection. Without TLS NATS is
  reached on loopback only, unless \`--nats-plaintext\` is given.
- \`--dev\` excludes everything that lasts: \`--data-dir\`, \`--database-url\`, \`--nats-url\`, the master key and \`--bootstrap-token-file\`.

## TLS without a certificate

With \`--tls-self-signed\` the server makes a certificate authority of its own at the first start, in the folder \`tls\` of the data directory,
and a certificate for itself: for the host of \`--base-url\`, the address of \`--listen\` (for \`0.0.0.0\` and \`::\` every address of the machine) and the
host name. The start prints the SHA-256 of the authority's certificate. Clients compare it once, and trust that authority alone from then on:

\`\`\`
ctl serve --listen 0.0.0.0:7443 --base-url https://ctl.example.net:7443 --tls-self-signed
ctl login --url https://ctl.example.net:7443 --ca-sha256 HEX
\`\`\`

Pass the digest on over a way that others cannot change: it is what tells your server from another one. \`tls/ca.pem\` is the certificate itself, for
programs that take a file (\`curl --cacert\`, \`ctl --ca-file\`).

- The authority lasts 10 years. \`tls/authority.pem\` is its key: back it up with the data directory. Without it every client must be given another digest.
- The server's certificate lasts 90 days. It is renewed after 60, and when the names change, within an hour and without a restart; on SIGHUP at once.
- Each data directory has its own authority: servers behind one name need \`--tls-cert\`.
- A browser warns about the certificate unless \`tls/ca.pem\` is among the authorities that it trusts.

## The way back in

\`ctl admin bootstrap-token\` takes the same settings and prints another token of the bootstrap identity: beside a stopped server, or
at any time where \`--database-url\` is used.

\`\`\`
ctl admin bootstrap-token --data-dir /var/lib/ctl | ctl login --with-token
\`\`\`

For people, \`ctl admin users add\` does the same: with \`--data-dir\`, \`--database-url\` or \`--config\` it adds an administrator with a
password for one time to the datastore itself.

\`\`\`
ctl admin users add root2 --platform-admin --data-dir /var/lib/ctl
\`\`\`

## Another master key

\`ctl admin master-key rotate\` takes the same settings, wraps the keyring under a new master key and puts that key into the place of
the old file, or into the file that \`--new-key-file\` names: beside a stopped server, or at any time where \`--database-url\` is used.
Every server of the database needs the new key at its next start.

## After a restore

\`ctl admin after-restore\` takes the same settings. Run it after you restored a backup of the datastore, before a server starts on it:
[operations](operations.md#backup-and-restore) has the whole of it.

## Tracing

Spans are exported where OpenTelemetry's own variables ask for it: \`OTEL_EXPORTER_OTLP_ENDPOINT\`, \`OTEL_SERVICE_NAME\`,
\`OTEL_TRACES_SAMPLER\` and their like; [operations](operations.md#traces) says which count.

## Signals

| Signal | Effect |
|---|---|
| \`SIGTERM\`, \`SIGINT\` | stops accepting, lets running requests finish (8 s), checkpoints, exits 0; a server that has not ended after 10 s is killed; a second signal exits at once |
| \`SIGHUP\` | reads the TLS certificate and key again; when they do not fit, the old ones stay and the log says why. With \`--tls-self-signed\`: renews the certificate where that is due |

## What a script sees

When stdout is not a terminal, the server prints one line of JSON there once it accepts requests, and nothing else:

\`\`\`json
{"event":"ready","url":"http://127.0.0.1:7443","ops_url":null,"pid":123,"version":"0.1.0"}
\`\`\`

With \`--tls-self-signed\` the line also has \`ca_sha256\`. Everything else goes to stderr. The exit code is 0 after a signal, 2 for a wrong command line, 1 for what has to be mended
(configuration, a port in use, a wrong master key, a data directory that is held or cannot be written, a newer schema) and 8 for
what may pass by itself (a database that cannot be reached or takes no writes).
`
}

function sentence(name: OptionName): string {
  const fallback = fallbackWords(name)
  return `${optionOf(name).describe}${fallback === undefined ? '' : ` (default: ${fallback})`}`
}

/** The default, in words; undefined where there is none. */
function fallbackWords(name: OptionName): string | undefined {
  const { fallback, fallbackWords: inWords, placeholder } = optionOf(name)
  if (inWords !== undefined) return inWords
  return placeholder === undefined || fallback === '' ? undefined : fallback
}

function fallbackCell(name: OptionName): string {
  const { fallback, placeholder } = optionOf(name)
  const inWords = fallbackWords(name)
  if (inWords === undefined && placeholder === undefined) return fallback === 'true' ? 'on' : 'off'
  if (inWords === undefined) return 'none'
  return fallback === undefined ? escaped(inWords) : `\`${inWords}\``
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length + 1 > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
