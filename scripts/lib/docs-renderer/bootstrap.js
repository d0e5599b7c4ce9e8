// Starts the renderer on the contract that the page carries.
;(() => {
  const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'
  const CODE = 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace'

  const options = {
    disableGoogleFont: true,
    sortRequiredPropsFirst: true,
    showExtensions: ['x-scope', 'x-needs'],
    theme: {
      typography: {
        fontSize: '16px',
        fontFamily: FONT,
        headings: { fontFamily: FONT },
        code: { fontFamily: CODE, fontSize: '14px' },
      },
    },
  }

  /** Chapters hide the renderer's own one on credentials; this is how a document asks for it. */
  function withCredentials(info) {
    return { ...info, description: `${info.description}\n\n# Credentials\n\n<SecurityDefinitions />` }
  }

  /** Says in words what a token's scopes must hold, and which relation is asked for. */
  function withNeeds(operation) {
    const { security = [], 'x-service-scope': scope, 'x-service-gate': gate } = operation
    const relations = (gate?.anyOf ?? []).map(({ relation, object }) => `${relation} on ${object}`)
    return {
      ...operation,
      ...(security.some((credential) => 'apiToken' in credential) && { 'x-scope': scope }),
      ...(relations.length > 0 && { 'x-needs': relations.join(', or ') }),
    }
  }

  function mapValues(object, change) {
    return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]))
  }

  /** The renderer's button for the menu of narrow windows answers to a pointer alone; enlarged text makes any window narrow. */
  function nameMenuButton() {
    const button = document.querySelector('.menu-content + div')
    for (const [name, value] of Object.entries({ role: 'button', tabindex: '0', 'aria-label': 'Menu' })) {
      button.setAttribute(name, value)
    }
    button.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return
      event.preventDefault()
      button.click()
    })
  }

  const contract = JSON.parse(document.getElementById('contract').textContent)
  const shown = {
    ...contract,
    info: withCredentials(contract.info),
    paths: mapValues(contract.paths, (operations) => mapValues(operations, withNeeds)),
  }
  // The contract itself, without what was added for the eye.
  const whole = new Blob([JSON.stringify(contract)], { type: 'application/json' })
  const downloadUrls = [{ title: 'Download', url: URL.createObjectURL(whole) }]
  window.Redoc.init(shown, { ...options, downloadUrls }, document.getElementById('docs'), nameMenuButton)
})()
