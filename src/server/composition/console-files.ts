import { existsSync, readFileSync } from 'node:fs'
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

/**
 * Reads the console, which the build wrote with its compressed forms.
 *
 * @throws BootError when the build has none.
 */
export function readConsoleFiles(): ConsoleFiles {
  const table = new URL('files.json', folder())
  if (!existsSync(table)) throw new BootError(1, 'The console is missing: build again with npm run build.')
  // The build wrote the table.
  const { index, assets } = JSON.parse(readFileSync(table, 'utf8')) as {
    readonly index: BuiltFile
    readonly assets: readonly BuiltFile[]
  }
  return {
    index: fileOf(index),
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
