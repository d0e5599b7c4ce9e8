import type { webhooks } from '../../../src/shared/contract/webhooks.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** An address of documentation, which the server refuses to connect to: every delivery fails at once. */
const endpoint = ({ name }: Pick<World, 'name'>): string => `https://192.0.2.1/${name()}`

/** Scenarios of webhooks. */
export const webhookScenarios: Scenarios<World, typeof webhooks> = {
  CreateWebhook: async (world) => ({
    input: {
      id: await domainWithRoom(world),
      body: {
        url: endpoint(world),
        events: ['node.offline', 'node.online'],
        for_seconds: 600,
        description: 'Tells the people on call',
        scheme: 'v1',
      },
    },
    as: world.root,
    lesser: world.nobody,
  }),
  async ListWebhooks(world) {
    for (const _ of ['one', 'two']) await makeWebhook(world)
    return { input: { id: world.domainId }, as: world.root, lesser: world.nobody }
  },
  async GetWebhook(world) {
    return { input: { id: await makeWebhook(world) }, as: world.root, lesser: world.nobody }
  },
  async PatchWebhook(world) {
    const body = { events: ['approval.requested' as const], description: null, enabled: true }
    return { input: { id: await makeWebhook(world), body }, as: world.root, lesser: world.nobody }
  },
  async DeleteWebhook(world) {
    return { input: { id: await makeWebhook(world) }, as: world.root, lesser: world.nobody }
  },
  async RotateWebhookSecret(world) {
    return { input: { id: await makeWebhook(world) }, as: world.root, lesser: world.nobody }
  },
  async TestWebhook(world) {
    return { input: { id: await makeWebhook(world) }, as: world.root, lesser: world.nobody }
  },
  async ListWebhookDeliveries(world) {
    const id = await makeWebhook(world)
    for (const _ of ['one', 'two', 'three']) await world.make('TestWebhook', { id })
    return { input: { id }, as: world.root, lesser: world.nobody }
  },
  async RedeliverWebhookDelivery(world) {
    const id = await makeWebhook(world)
    const { id: delivery_id } = await world.make('TestWebhook', { id })
    return { input: { id, delivery_id }, as: world.root, lesser: world.nobody }
  },
}

/** Webhooks that are left, of the 20 that a Domain has at most. */
const LEFT = 10

/** The Domain, without the older ones of its webhooks. */
async function domainWithRoom({ domainId: id, make }: World): Promise<string> {
  const { items } = await make('ListWebhooks', { id, limit: '20' })
  // The items of a list that is no audit log have ids.
  const listed = items as readonly { readonly id?: string }[]
  for (const { id: webhook } of listed.slice(LEFT)) await make('DeleteWebhook', { id: webhook })
  return id
}

async function makeWebhook(world: World): Promise<string> {
  const id = await domainWithRoom(world)
  return (await world.make('CreateWebhook', { id, body: { url: endpoint(world), events: ['node.offline'] } })).id
}
