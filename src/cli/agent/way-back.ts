/** How a node whose key the server has refused for good comes back. A revoked one still exists, so it is enrolled under its id. */
export function wayBack(code: string, name = 'NODE'): string {
  const token = code === 'nsk_revoked' ? `ctl join-tokens create --node ${name}` : 'ctl join-tokens create'
  return `Make a token with "${token}", and run "ctl agent up --join-token-file FILE".`
}
