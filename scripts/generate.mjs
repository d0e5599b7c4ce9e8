// Writes the committed files that derive from the sources; with --check, fails where one differs instead.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { recordedExamples } from './lib/recorded-examples.mjs'
import { root } from './lib/root.mjs'

/** Each generated file, the built module that knows it, and the function there that returns its text. */
const GENERATED = [
  { file: 'docs/configuration.md', module: 'server/config/reference.js', from: 'configurationPage' },
  { file: 'docs/contract/openapi.json', module: 'shared/contract/document.js', from: 'contractDocument' },
  { file: 'docs/contract/events.json', module: 'shared/contract/events-document.js', from: 'eventsDocument' },
  { file: 'docs/cli.md', module: 'cli/help/reference/generated.js', from: 'cliPage' },
  { file: 'completions/ctl.bash', module: 'cli/help/reference/generated.js', from: 'bashCompletion' },
  { file: 'completions/_ctl', module: 'cli/help/reference/generated.js', from: 'zshCompletion' },
  { file: 'completions/ctl.fish', module: 'cli/help/reference/generated.js', from: 'fishCompletion' },
]

async function textOf({ module, from }) {
  const loaded = await import(pathToFileURL(join(root, 'dist', module)).href)
  return loaded[from](recordedExamples(root))
}

function committed(file) {
  try {
    return readFileSync(join(root, file), 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

const checking = process.argv.includes('--check')
for (const entry of GENERATED) {
  const text = await textOf(entry)
  if (committed(entry.file) === text) continue
  if (checking) {
    process.stderr.write(`${entry.file} is not what the sources say; run \`npm run generate\` and commit it.\n`)
    process.exitCode = 1
    continue
  }
  mkdirSync(dirname(join(root, entry.file)), { recursive: true })
  writeFileSync(join(root, entry.file), text)
}
