/** nginx as a plain proxy: what moving the bytes costs. Installed where that is possible, else left out. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answers, freePort, start, withFolder } from '../lib/process.mjs';

function find() {
  for (const name of ['nginx', '/usr/sbin/nginx']) if (spawnSync(name, ['-v']).status === 0) return name;
  return undefined;
}

/** The command, or undefined when there is none and none can be installed. */
export function nginxCommand() {
  const found = find();
  if (found !== undefined || process.getuid?.() !== 0 || spawnSync('apt-get', ['-v']).status !== 0)
    return found;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'nginx-light'], { env, stdio: 'ignore' });
  return find();
}

function configuration(folder, port, upstreamPort) {
  return `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  client_max_body_size 32m;
  client_body_buffer_size 128k;
  keepalive_requests 1000000;
  upstream mock { server 127.0.0.1:${upstreamPort}; keepalive 64; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port} backlog=1024;
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
}

export async function startNginx(command, upstreamPort) {
  const folder = mkdtempSync(join(tmpdir(), 'toolgate-bench-nginx-'));
  const port = await freePort();
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, port, upstreamPort));
  const args = ['-p', folder, '-c', join(folder, 'nginx.conf')];
  return withFolder(await start(command, args, { port, ready: () => answers(port) }), folder);
}
