import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.js';
import { facesLoaded } from './app/faces.js';
import { startSignIn } from './app/sign-in.js';
import { applyTheme, watchTheme } from './app/theme.js';
import { registerWorker } from './app/update.js';
import { applyLanguage } from './text/language.js';
import { loadLater } from './ui/load.js';
import './styles.css';

applyTheme();
watchTheme();
applyLanguage();
startSignIn();
void facesLoaded().then(() => {
  const root = document.getElementById('root');
  if (root === null) return;
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
});
if (import.meta.env.PROD) void registerWorker();
loadLater();
