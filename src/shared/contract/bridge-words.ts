import { z } from 'zod'
import { BridgeSlug } from './bridge-schemas.ts'
import { KiB, uuidField } from './fields.ts'
import { check, OPERATOR } from './operation.ts'
import { fullReplacement } from './patch.ts'

/** Path of the bridge of a resource. */
export const BRIDGE = '/v1/projects/{project_id}/resources/{resource_id}/bridge'

export const bridgeParams = z.strictObject({
  project_id: uuidField('invalid_project_id', 'Project'),
  resource_id: uuidField('invalid_resource_id', 'Resource of kind bridge'),
})
/** A part of a bridge that has a slug. */
export const partParams = bridgeParams.extend({ slug: BridgeSlug.describe('Slug in the bridge') })

export const bridgeRefs = { project_id: 'projects', resource_id: 'bridge' } as const
/** How the command line calls the resource. */
export const bridgeFlags = { resource_id: { name: 'bridge' } } as const

const common = { credentials: OPERATOR, notProvisioned: 'bridge_not_provisioned' } as const

/** What every read of a bridge has in common. The Project of the path decides nothing for the gate (S1 Bridge orchestrator). */
export const bridgeRead = { ...common, gate: check('observe', 'resource:{path.resource_id}') } as const
/** What every write has in common. */
export const bridgeWrite = { ...common, gate: check('manage', 'resource:{path.resource_id}') } as const
export const bridgeBody = { bodyBytesMax: 8 * KiB } as const
export const replaced = { patch: fullReplacement('S1 Bridge orchestrator: PATCH replaces the configuration') } as const

/** Problems of the resource that the path names. */
export const ofBridge = ['resource_not_found', 'resource_not_bridge'] as const
/** A taken slug is an identity conflict, and is audited as one (S1 Errors, Bridge). */
export const identityConflicts = { outcomes: { slug_conflict: 'identity_conflict' } } as const
