/** The join token of the lab is for 50 nodes. */
const ROUNDS_MAX = 40
const DEFAULTS = { rounds: '5', seconds: '10', peers: '100,1000', 'idle-seconds': '30' }

/** Reads the options of the benchmark. @throws where one is unknown or has a value that it cannot have. */
export function optionsOf(args) {
  const given = args.filter((arg) => arg.startsWith('--')).map((arg) => arg.slice(2).split('='))
  const unknown = given.find(([name]) => !(name in DEFAULTS))
  if (unknown !== undefined) throw new Error(`--${unknown[0]} is none of --${Object.keys(DEFAULTS).join(', --')}`)
  const texts = { ...DEFAULTS, ...Object.fromEntries(given) }
  const peers = texts.peers === '' ? [] : texts.peers.split(',').map((text) => whole('peers', text, 1))
  if (peers.some((count, index) => index > 0 && count <= peers[index - 1])) throw new Error('--peers are to grow')
  return {
    rounds: whole('rounds', texts.rounds, 0, ROUNDS_MAX),
    seconds: whole('seconds', texts.seconds, 0),
    peers,
    idleSeconds: whole('idle-seconds', texts['idle-seconds'], 1),
  }
}

function whole(name, text, min, max = Number.MAX_SAFE_INTEGER) {
  const value = /^\d+$/.test(text ?? '') ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new Error(`--${name} takes whole numbers from ${min}${max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`}`)
}
