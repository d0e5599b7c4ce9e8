import { storedSubjects } from '../../../src/server/adapters/stored-subjects/stored-subjects.ts'
import { createAuthz, type AuthzDeps } from '../../../src/server/slices/authz/service.ts'
import { mounted } from '../../../src/server/http/request-context.ts'
import { createAdmission } from '../../../src/server/slices/relation-tuples/admission.ts'
import { createRelationTuples } from '../../../src/server/slices/relation-tuples/service.ts'
import { authz } from '../../../src/shared/contract/authz.ts'
import { relationTuples } from '../../../src/shared/contract/relation-tuples.ts'
import type { ControlPlaneParts, UnderTest } from '../server/control-plane.ts'

/** The surfaces of tuples and of questions about them, over the real engine; `more` brings or replaces collaborators. */
export const authzSurface =
  (more: Partial<AuthzDeps> = {}) =>
  (parts: ControlPlaneParts): UnderTest => {
    const { datastore, unitOfWork, authorizer } = parts
    const { lookups, insight, reconciler } = authorizer
    const admission = createAdmission({ subjects: storedSubjects, validateTuple: authorizer.validateTuple })
    const writing = { datastore, subjects: storedSubjects, admission }
    return {
      surfaces: [
        mounted(relationTuples, createRelationTuples({ datastore, unitOfWork, admission })),
        mounted(authz, createAuthz({ authorizer, lookups, insight, reconciler, writing, ...more })),
      ],
    }
  }
