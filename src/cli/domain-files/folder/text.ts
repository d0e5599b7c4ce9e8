import type { Document } from '../document.ts'
import { sortedValue } from '../canonical.ts'
import { SCHEMA_FOLDER } from './layout.ts'

/** How YAML is written: no anchors, no folded lines, so that equal values are equal texts. */
const FORM = { aliasDuplicateObjects: false, lineWidth: 0, minContentWidth: 0, sortMapEntries: false } as const

/** The text of a document: its kind, its name, then its members in the order of the kind. Inner members are in alphabetical order. */
export async function textOf(document: Document, path: string): Promise<string> {
  const { stringify } = await import('yaml')
  const { kind, name, members } = document
  const up = '../'.repeat(path.split('/').length - 1)
  const head = `# yaml-language-server: $schema=${up}${SCHEMA_FOLDER}/${kind}.json\n`
  const inner = Object.entries(members).map(([member, value]) => [member, sortedValue(value)])
  return head + stringify({ kind, ...(name !== kind && { name }), ...Object.fromEntries(inner) }, FORM)
}

/** The text of any value. */
export async function yamlText(value: unknown): Promise<string> {
  const { stringify } = await import('yaml')
  return stringify(value, FORM)
}
