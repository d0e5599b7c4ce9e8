import type { SecretUsers } from '../ports/secret-users.ts'

/** The bridges that name secrets, each as `resource:<id>`, once for each version that it names. */
export const bridgeSecretUsers: SecretUsers = {
  async find(db, { projectId, names }) {
    if (names.length === 0) return []
    const rows = await db
      .selectFrom('bridge_secret_refs')
      .select(['name', 'resource_id', 'version'])
      .distinct()
      .where('project_id', '=', projectId)
      .where('name', 'in', names)
      .orderBy('name')
      .orderBy('resource_id')
      .orderBy('version')
      .execute()
    return rows.map(({ name, resource_id, version }) => ({ name, object: `resource:${resource_id}`, version }))
  },
}
