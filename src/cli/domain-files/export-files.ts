import type { Manifest } from '../../shared/contract/manifest-format.ts'
import { KINDS } from './kinds.ts'
import { pathOf, SCHEMA_FOLDER, SET_FILE } from './folder/layout.ts'
import { textOf, yamlText } from './folder/text.ts'
import type { TextFile } from './folder/write-folder.ts'
import type { World } from './kind.ts'
import type { LiveObject } from './document.ts'
import { documentSchema } from './schema/document-schema.ts'

/** The files of a Domain. `set` names the set in its own file. */
export async function filesOf(world: World, set: string, manifest: Manifest): Promise<readonly TextFile[]> {
  const objects = KINDS.flatMap((kind) => (world.live.get(kind.name) ?? []).filter(hasContent))
  const documents = await Promise.all(
    objects.map(async (object) => {
      const path = pathOf(object.kind, object.name)
      return { path, text: await textOf(object, path) }
    }),
  )
  return [...documents, ...schemaFiles(manifest), { path: SET_FILE, text: await setText(world, set, manifest) }]
}

/** A node is in the files for its labels alone. */
function hasContent({ kind, members }: LiveObject): boolean {
  return kind !== 'node' || Object.keys(members).length > 0
}

function schemaFiles(manifest: Manifest): readonly TextFile[] {
  return KINDS.map((kind) => ({
    path: `${SCHEMA_FOLDER}/${kind.name}.json`,
    text: `${JSON.stringify(documentSchema(kind, manifest), null, 2)}\n`,
  }))
}

async function setText({ domain, names }: World, set: string, manifest: Manifest): Promise<string> {
  const nouns = Object.entries(manifest.nouns).flatMap(([noun, { files }]) =>
    typeof files === 'object' ? [[noun, files.runtime] as const] : [],
  )
  const parts = KINDS.flatMap(({ omitted = {} }) => Object.entries(omitted))
  const members = {
    format: 1,
    set,
    domain: names.domainSlug,
    mesh_cidr: domain['mesh_cidr'],
    omitted: Object.fromEntries([...nouns, ...parts].toSorted(([one], [other]) => (one < other ? -1 : 1))),
  }
  return `# A Domain as files: ctl diff and ctl apply read them. What they do not have is named below, with the reason.\n${await yamlText(members)}`
}
