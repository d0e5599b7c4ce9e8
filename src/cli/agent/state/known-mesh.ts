import { readFile } from 'node:fs/promises'
import type { PeerFacts } from '../../../client/agent/peers/peer-book.ts'
import type { ReadPolicy } from '../../../client/agent/policies/own-policies.ts'
import { systemCode } from '../errors.ts'
import { replaceFile } from './atomic-file.ts'

/** The mesh as it was last known. It holds from a start until the first pull, so that policies are enforced meanwhile. */
export interface KnownMesh {
  readonly peers: readonly PeerFacts[]
  readonly policies: readonly ReadPolicy[]
}

interface MeshFile extends KnownMesh {
  readonly format: 1
  /** The file of another node says nothing of this one. */
  readonly node_id: string
}

/** Reads it; undefined where there is none, or none that can be used: the next pull brings all of it. */
export async function readKnownMesh(path: string, nodeId: string): Promise<KnownMesh | undefined> {
  try {
    const file: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isMeshFile(file) && file.node_id === nodeId ? knownOf(file) : undefined
  } catch (error) {
    if (error instanceof SyntaxError || systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Files of older versions have peers without the newer facts. */
function knownOf({ peers, policies }: MeshFile): KnownMesh {
  return { peers: peers.map((peer) => ({ ...NEWER_FACTS, ...peer })), policies }
}

const NEWER_FACTS = { candidates: [], subnets: [] }

function isMeshFile(value: unknown): value is MeshFile {
  const file = value as Partial<MeshFile> | null
  return file?.format === 1 && Array.isArray(file.peers) && Array.isArray(file.policies)
}

/** Writes it. @throws the error of the file system. */
export function writeKnownMesh(path: string, nodeId: string, { peers, policies }: KnownMesh): Promise<void> {
  const file: MeshFile = { format: 1, node_id: nodeId, peers, policies }
  return replaceFile(path, `${JSON.stringify(file)}\n`)
}
