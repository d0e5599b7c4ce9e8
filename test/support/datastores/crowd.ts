import { Client } from 'pg'

/** Clients of a PostgreSQL that do nothing there but take a connection each. */
export interface Crowd {
  /** Takes what slots there are left; resolves once the server has none (SQLSTATE 53300). */
  fill(): Promise<void>
  /** One of those that are there. */
  member(): Client
  leave(): Promise<void>
}

const TOO_MANY_CONNECTIONS = '53300'

export function createCrowd(url: string): Crowd {
  const members: Client[] = []

  async function join(): Promise<boolean> {
    const client = new Client({ connectionString: url })
    client.on('error', () => undefined)
    try {
      await client.connect()
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === TOO_MANY_CONNECTIONS) return false
      throw error
    }
    members.push(client)
    return true
  }

  return {
    async fill() {
      while (await join());
    },
    member() {
      const [member] = members
      if (member === undefined) throw new Error('nobody has come yet')
      return member
    },
    async leave() {
      await Promise.all(members.splice(0).map((client) => client.end()))
    },
  }
}
