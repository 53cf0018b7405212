import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { versionPlugin } from './build/version.mjs';

/** The gateway that `npm run dev` talks to. */
const GATEWAY = process.env['TOOLGATE_URL'] ?? 'http://127.0.0.1:3000';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react(), tailwindcss(), versionPlugin()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // Inline data would need a weaker content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Which file imports which: what a first visit loads is counted from it.
    manifest: true,
    reportCompressedSize: false,
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/api': GATEWAY, '/v1': GATEWAY },
  },
});
