import type { AuditTables } from './audit.ts'
import type { AuthzTables } from './authz.ts'
import type { BridgesTables } from './bridges.ts'
import type { CapacityTables } from './capacity.ts'
import type { CatalogueTables } from './catalogue.ts'
import type { EventsTables } from './events.ts'
import type { ExecutionsTables } from './executions.ts'
import type { IdentityTables } from './identity.ts'
import type { IntegrityTables } from './integrity.ts'
import type { KeysTables } from './keys.ts'
import type { LabelsTables } from './labels.ts'
import type { MeshTables } from './mesh.ts'
import type { NodesTables } from './nodes.ts'
import type { OutboxTables } from './outbox.ts'
import type { PoliciesTables } from './policies.ts'
import type { ReleasesTables } from './releases.ts'
import type { SecretsTables } from './secrets.ts'
import type { SignInTables } from './sign-in.ts'
import type { TenancyTables } from './tenancy.ts'

/** The row of each table as both datastores return it: bigint as string, instants as Date, bytes as Buffer. */
export interface Tables
  extends
    AuditTables,
    AuthzTables,
    BridgesTables,
    CapacityTables,
    CatalogueTables,
    EventsTables,
    ExecutionsTables,
    IdentityTables,
    IntegrityTables,
    KeysTables,
    LabelsTables,
    MeshTables,
    NodesTables,
    OutboxTables,
    PoliciesTables,
    ReleasesTables,
    SecretsTables,
    SignInTables,
    TenancyTables {}
