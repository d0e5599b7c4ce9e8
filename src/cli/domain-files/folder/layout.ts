import { createHash } from 'node:crypto'

/** The file that describes a set: its name, and what its files do not have. */
export const SET_FILE = 'ctl.yaml'

/** A hidden file that a folder has while an export into it is not done. */
export const UNFINISHED_FILE = '.export-unfinished'

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
 * The file of an object below the folder, with `/` between its parts. Two objects never share a file: characters that not every file
 * system takes are written in hexadecimal digits, and a name that is too long, or that differs from another one by upper case alone,
 * ends with a digest.
 */
export function pathOf(kind: string, name: string): string {
  const folder = FOLDERS[kind]
  if (folder === undefined) return `${kind}.yaml`
  return `${[folder, ...partsOf(kind, name)].join('/')}.yaml`
}

const IN_PROJECT = 'project:'

/** Objects of a Project are in a folder of it; the subject of grants has its type before its name. */
function partsOf(kind: string, name: string): readonly string[] {
  if (kind === 'resource' || kind === 'secret') return name.split('/').map(fileName)
  if (kind === 'label-definition' && name.startsWith(IN_PROJECT)) {
    const end = name.indexOf('/')
    return [name.slice(IN_PROJECT.length, end), name.slice(end + 1)].map(fileName)
  }
  if (kind === 'grants') {
    const [type = '', ...subject] = name.split(':')
    return [`${fileName(type)}.${fileName(subject.join(':'))}`]
  }
  return [fileName(name)]
}

function fileName(part: string): string {
  const safe = encodeURIComponent(part.toWellFormed())
    .replaceAll(/[!'()*~]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)
    .replaceAll('%', '~')
    .replace(/^\./, '~2e')
  // Some file systems do not tell upper from lower case.
  if (safe.length <= FILE_NAME_MAX && part === part.toLowerCase()) return safe
  return `${safe.slice(0, FILE_NAME_MAX - 17)}~${createHash('sha256').update(part).digest('hex').slice(0, 16)}`
}
