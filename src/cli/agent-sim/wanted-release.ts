import { isAltered } from './binary.ts'
import type { SimulatedNode } from './simulated-node.ts'

/** The release that the fleet was last asked to install. */
export interface WantedRelease {
  /** An agent was asked to install the version. */
  asked(version: string): void
  /** Whether the agent runs another version, or reports a wrong checksum; never before any agent was asked. */
  isOutdated(node: SimulatedNode): boolean
}

/** Makes a record of a fleet that was not asked yet. */
export function createWantedRelease(): WantedRelease {
  let wanted: string | undefined
  return {
    asked: (version) => void (wanted = version),
    isOutdated: ({ binary }) => wanted !== undefined && (binary.version !== wanted || isAltered(binary)),
  }
}
