import { createHash } from 'node:crypto'

/** The file that describes a set: its name, and what its files do not have. */
export const SET_FILE = 'ctl.yaml'

/** Where the schemas of the files are, for editors. */
export const SCHEMA_FOLDER = '.schema'

const FOLDERS: Readonly<Record<string, string>> = {
  project: 'projects',
  'label-definition': 'labels',
  node: 'nodes',
  secret: 'secrets',
  resource: 'resources',
  'service-identity': 'service-identities',
  group: 'groups',
  grants: 'grants',
  policy: 'policies',
}

/** Folders that hold one kind each. */
export const KIND_FOLDERS: readonly string[] = Object.values(FOLDERS)

/** Longer names of files are refused by file systems. */
const FILE_NAME_MAX = 150

/**
 * The file of an object below the folder, with `/` between its parts. Characters that not every file system takes are written in
 * hexadecimal digits; a name that is too long ends with a digest.
 */
export function pathOf(kind: string, name: string): string {
  const folder = FOLDERS[kind]
  if (folder === undefined) return `${kind}.yaml`
  const isNested = kind === 'resource' || kind === 'secret'
  const parts = isNested ? name.split('/') : [name]
  return `${[folder, ...parts.map(fileName)].join('/')}.yaml`
}

function fileName(part: string): string {
  const safe = encodeURIComponent(part.toWellFormed())
    .replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)
    .replaceAll('%3A', '.')
    .replaceAll('%2F', '.')
    .replaceAll('%', '~')
    .replace(/^\./, '~2e')
  if (safe.length <= FILE_NAME_MAX) return safe
  return `${safe.slice(0, FILE_NAME_MAX - 17)}~${createHash('sha256').update(part).digest('hex').slice(0, 16)}`
}
