import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const manifest = fileURLToPath(new URL('../package.json', import.meta.url));

/** The gateway that `npm run dev` talks to. */
const GATEWAY = process.env['TOOLGATE_URL'] ?? 'http://127.0.0.1:3000';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [
    react(),
    tailwindcss(),
    {
      // Both ship in one package, so there is one version.
      name: 'toolgate-version',
      transformIndexHtml: (html) => {
        const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
        return html.replaceAll('%TOOLGATE_VERSION%', version);
      },
    },
  ],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // Inline data would need a weaker content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/api': GATEWAY, '/v1': GATEWAY },
  },
});
