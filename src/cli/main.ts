import { readFileSync } from 'node:fs'
import type { Manifest } from '../shared/contract/manifest-format.ts'
import type { Io } from './io.ts'

/** What `main` may be given instead of the process and the built files. */
export interface MainOptions {
  readonly io?: Io
  readonly manifest?: Manifest
}

/** Runs the command line: arguments without the program's name in, exit code out. */
export async function main(argv: readonly string[], options: MainOptions = {}): Promise<number> {
  const [first] = argv
  if (first === '--version' || first === '-V' || first === 'version') {
    const text = `ctl ${version()}\n`
    if (options.io) options.io.stdout.write(text)
    else process.stdout.write(text)
    return 0
  }
  const [{ runApp }, io] = await Promise.all([import('./app.ts'), options.io ?? processIo()])
  return runApp(argv, { io, version: version(), manifest: () => options.manifest ?? builtManifest() })
}

async function processIo(): Promise<Io> {
  return (await import('./process-io.ts')).processIo()
}

function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

let built: Manifest | undefined

/** The manifest that the build wrote beside the modules. */
function builtManifest(): Manifest {
  built ??= JSON.parse(readFileSync(new URL('../contract-manifest.json', import.meta.url), 'utf8')) as Manifest
  if (built.format !== 1) throw new Error('the contract manifest is of another build; run "npm run build"')
  return built
}
