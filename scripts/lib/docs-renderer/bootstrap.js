// Starts the renderer on the contract that the page carries.
;(() => {
  const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'
  const CODE = 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace'

  const scheme = matchMedia('(prefers-color-scheme: dark)')

  /** The renderer mixes further colours out of these: they must be colours, and cannot be variables of the style sheet. */
  const DARK = {
    colors: {
      primary: { main: '#8ab4ff' },
      success: { main: '#7bd88f' },
      warning: { main: '#f0c674' },
      error: { main: '#ffb3b3' },
      gray: { 50: '#1e2226', 100: '#262b30' },
      text: { primary: '#e8eaed', secondary: '#b4bcc4' },
      border: { dark: '#3b4249', light: '#3b4249' },
      responses: { info: { color: '#87ceeb', backgroundColor: 'rgba(135, 206, 235, 0.1)', tabTextColor: '#87ceeb' } },
    },
    schema: { linesColor: '#5c6670', nestedBackground: '#1e2226', typeNameColor: '#b4bcc4', typeTitleColor: '#b4bcc4' },
    sidebar: { backgroundColor: '#1e2226', textColor: '#e8eaed', activeTextColor: '#8ab4ff' },
    rightPanel: {
      backgroundColor: '#0d0f11',
      textColor: '#e8eaed',
      servers: { overlay: { backgroundColor: '#1e2226', textColor: '#e8eaed' }, url: { backgroundColor: '#14171a' } },
    },
    codeBlock: { backgroundColor: '#1e2226' },
    fab: { backgroundColor: '#262b30', color: '#8ab4ff' },
  }

  const typography = {
    fontSize: '16px',
    fontFamily: FONT,
    headings: { fontFamily: FONT },
    code: {
      fontFamily: CODE,
      fontSize: '14px',
      ...(scheme.matches && { color: '#ffb3b3', backgroundColor: 'rgba(232, 234, 237, 0.1)' }),
    },
  }

  const options = {
    disableGoogleFont: true,
    sortRequiredPropsFirst: true,
    showExtensions: ['x-scope', 'x-needs'],
    theme: { ...(scheme.matches && DARK), typography },
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
  // The colours are drawn into the page; the address keeps the place.
  scheme.addEventListener('change', () => location.reload())
  window.Redoc.init(shown, { ...options, downloadUrls }, document.getElementById('docs'), nameMenuButton)
})()
