import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { packageFile } from '../../shared/package-files.ts'
import type { StaticFile } from '../http/pages/pages.ts'
import { BootError } from '../ports/boot-error.ts'
import type { ConsoleFiles } from '../slices/console/console-pages.ts'

/** A file in the table that the build writes. */
interface BuiltFile {
  readonly name: string
  readonly media: string
  /** Of its contents. */
  readonly digest: string
}

/** Stands in the page for the command line as it is typed. */
const COMMAND = '%COMMAND%'

/**
 * Reads the console, which the build wrote with its compressed forms. The page names the command line, so it is compressed here.
 *
 * @param command how the command line is typed, e.g. `npx ctl`
 * @throws BootError when the build has none.
 */
export function readConsoleFiles(command: string): ConsoleFiles {
  const table = new URL('files.json', folder())
  if (!existsSync(table)) throw new BootError(1, 'The console is missing: build again with npm run build.')
  // The build wrote the table.
  const { index, assets } = JSON.parse(readFileSync(table, 'utf8')) as {
    readonly index: BuiltFile
    readonly assets: readonly BuiltFile[]
  }
  return {
    index: indexOf(index, command),
    assets: new Map(assets.map((asset) => [asset.name, fileOf(asset)])),
  }
}

function folder(): URL {
  return packageFile('dist/console/')
}

function fileOf({ name, media, digest }: BuiltFile): StaticFile {
  const read = (suffix: string) => readFileSync(new URL(`${name}${suffix}`, folder()))
  return { media, digest, isImmutable: false, bytes: { identity: read(''), gzip: read('.gz'), br: read('.br') } }
}

function indexOf({ name, media }: BuiltFile, command: string): StaticFile {
  const text = readFileSync(new URL(name, folder()), 'utf8')
  const identity = Buffer.from(text.replaceAll(COMMAND, command))
  const digest = createHash('sha256').update(identity).digest('hex').slice(0, 16)
  const bytes = { identity, gzip: gzipSync(identity, { level: 9 }), br: brotliCompressSync(identity) }
  return { media, digest, isImmutable: false, bytes }
}
