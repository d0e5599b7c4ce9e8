/** A command of a document's console block, with what the document says it prints. */
export interface ShownCommand {
  /** As typed after `$ `. */
  readonly line: string
  readonly output: string
}

/** The commands of all console blocks of a Markdown text, in order. */
export function shownCommands(markdown: string): readonly ShownCommand[] {
  const blocks = [...markdown.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, body = '']) => body)
  return blocks.flatMap((body) =>
    body
      .split(/^\$ /m)
      .filter((part) => part !== '')
      .map((part) => {
        const [line = '', ...output] = part.trimEnd().split('\n')
        return { line, output: output.join('\n') }
      }),
  )
}

/** What differs from run to run, and what stands for it. The order matters: an instant holds digits, a token an id. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/\b(psk|jtk)_local_[0-9a-f]{32}_\w{49}\b/g, '$1_<secret>'],
  [/\b(psk|jtk)_local_[0-9a-f]{32}\b/g, '$1_<prefix>'],
  [/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/g, '<uuid>'],
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<instant>'],
  [/\b(in \d+[smhd]|\d+[smhd] ago|now)(?=[\s),]|$)/gm, '<relative>'],
  [/\b[0-9a-f]{8}\b/g, '<id>'],
  // Agents register side by side, and nobody knows in which order.
  [/\bsim-\w{5}-\d+/g, 'sim-<fleet>-<number>'],
  [/\bsim-\w{5}-/g, 'sim-<fleet>-'],
  [/\bkid [\w-]+/g, 'kid <kid>'],
  [/^(PUBLIC KEY +)\S{43}=$/gm, '$1<key>'],
  [/[\d.]+ ms\b/g, '<n> ms'],
  [/[▁▂▃▄▅▆▇█]{4}$/gm, '<strip>'],
  [/^((?:heartbeat|endpoint|capabilities|state_pull|edge_keys) +)\d+/gm, '$1<n>'],
  // A single key is fetched alone where only one edge is due at a moment.
  [/^edge_key +\d.*\n/gm, ''],
  [/\bSHA256:[\w+/]{43}/g, 'SHA256:<fingerprint>'],
  [/^(ENDPOINT +)[\d.]+:\d+$/gm, '$1<endpoint>'],
  [/^(NAT TYPE +)\w+$/gm, '$1<nat>'],
  [/\bhttp:\/\/127\.0\.0\.1:\d+/g, '<url>'],
  [/\bctl \d+\.\d+\.\d+(?= serves)/g, 'ctl <version>'],
]

/** A transcript without what differs from run to run; columns, whose widths follow from that, are two spaces apart. */
export function steadied(text: string): string {
  const steady = VARYING.reduce((so, [pattern, stand]) => so.replace(pattern, stand), text)
  return steady.replaceAll(/ {2,}/g, '  ').replaceAll(/ +$/gm, '').trim()
}
