import type { Manifest } from '../shared/contract/manifest-format.ts'
import { builtManifest } from './argv/built-manifest.ts'
import { endWithOutput, guardProcess } from './errors/guard.ts'
import type { Io } from './output/io.ts'
import { ownVersion } from './own-version.ts'

/** What `main` may be given instead of the process and the built files. */
export interface MainOptions {
  readonly io?: Io
  readonly manifest?: Manifest
}

const VERSION_WORDS = new Set(['--version', '-V', 'version'])
/** Alone it asks for the version, as with many programs; with a command it is the short form of --debug. */
const LONE_VERSION_WORD = '-v'
const HELP_WORDS = new Set(['--help', '-h', 'help'])

/** Runs the command line: arguments without the program's name in, exit code out. */
export async function main(argv: readonly string[], options: MainOptions = {}): Promise<number> {
  const [first = '--help'] = argv
  if (asksVersion(first, argv)) return showVersion(options)
  if (argv.length <= 1 && HELP_WORDS.has(first)) return showHelp(options)
  const [{ runApp }, io] = await Promise.all([import('./app.ts'), options.io ?? processIo()])
  const guard = options.io === undefined ? guardProcess : undefined
  return runApp(argv, { io, version: ownVersion(), manifest: () => options.manifest ?? builtManifest(), guard })
}

function asksVersion(first: string, { length }: readonly string[]): boolean {
  return VERSION_WORDS.has(first) || (first === LONE_VERSION_WORD && length === 1)
}

function showVersion({ io }: MainOptions): number {
  const text = `ctl ${ownVersion()}\n`
  if (io) io.stdout.write(text)
  else {
    endWithOutput(process.stdout)
    process.stdout.write(text)
  }
  return 0
}

/** The way past everything that only commands need. */
async function showHelp({ io: given, manifest }: MainOptions): Promise<number> {
  const [io, { rootHelp }, { styleOf }] = await Promise.all([
    given ?? processIo(),
    import('./help/root-help.ts'),
    import('./output/style.ts'),
  ])
  const layout = { style: styleOf(io, io.stdout, false), columns: io.stdout.columns }
  io.stdout.write(rootHelp(manifest ?? builtManifest(), layout))
  return 0
}

async function processIo(): Promise<Io> {
  return (await import('./output/process-io.ts')).processIo()
}
