import type { Datastore } from '../ports/datastore.ts'
import type { ProjectSecrets } from '../ports/project-secrets.ts'
import type { SecretStore } from '../ports/secret-store.ts'
import { findSecretVersion, projectSecretPath } from '../sql/project-secrets.ts'

export interface ProjectSecretsDeps {
  readonly datastore: Datastore
  readonly secretStore: Pick<SecretStore, 'get'>
}

/** Makes the reader of secrets of Projects. Nothing is cached between two calls. */
export function createProjectSecrets({ datastore, secretStore }: ProjectSecretsDeps): ProjectSecrets {
  return {
    async read(secret) {
      const found = await findSecretVersion(datastore.pool('interactive'), secret)
      if (found === undefined) return undefined
      // Undefined where it was deleted in between.
      const value = await secretStore.get(projectSecretPath(found.secretId), found.version)
      return value && { version: found.version, value }
    },
  }
}
