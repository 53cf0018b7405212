/** The gateway's: both ship in one package. */
export const VERSION = document.querySelector('meta[name="toolgate-version"]')?.getAttribute('content') ?? '';
