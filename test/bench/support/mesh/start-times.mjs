import { timeToFirstPing } from './first-ping.mjs'

/**
 * Starts each tunnel in each round until its first ping is answered, another one first each time: from an enrolled start all, and
 * the agent also from a new enrolment. Resolves with the samples of each. All tunnels are up afterwards.
 */
export async function measureStarts({ lab, a }, tunnels, { rounds }) {
  const cases = tunnels.flatMap((tunnel) => [
    ...(tunnel.enrol === undefined ? [] : [{ tunnel, from: 'enrolment', start: tunnel.enrol, prepare: tunnel.forget }]),
    { tunnel, from: 'enrolled', start: tunnel.start },
  ])
  const samples = cases.map(() => [])
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < cases.length; turn += 1) {
      const index = (round + turn) % cases.length
      const { tunnel, start, prepare } = cases[index]
      await prepare?.()
      samples[index].push(await timeToFirstPing(lab, a, { address: tunnel.address, start }))
      await tunnel.stop()
    }
  }
  for (const tunnel of tunnels) await timeToFirstPing(lab, a, tunnel)
  return cases.map(({ tunnel, from }, index) => ({ tunnel: tunnel.name, from, samples: samples[index] }))
}
