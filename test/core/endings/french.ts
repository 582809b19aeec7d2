import { done, missed, T, unfinished } from './ending.ts';

export const FRENCH = [
  ...unfinished(
    [
      'half a sentence, wrapped at more than 80 columns',
      `J'ai relu les trois tests qui échouent et je ne peux donc pas encore, en toute honnêteté, terminer par\n${T}`,
    ],
    [
      'denied',
      `Je n'écris pas ${T}, car deux tests échouent.`,
      `Pas de ${T} pour l'instant.`,
      `Le travail n'est pas COMPLETE.`,
      `${T} serait un mensonge.`,
    ],
    [
      'to come',
      `Je terminerai par ${T}`,
      `Demain je pourrai écrire ${T}.`,
      `Ensuite viendra ${T}, pas avant.`,
      `Il reste la documentation ; puis ${T}`,
    ],
    [
      'on a condition',
      `Si tout passe, je répondrai : ${T}`,
      `Quand la migration sera finie, la dernière ligne sera :\n\n${T}`,
      `Seulement après la revue de l'équipe, j'écrirai\n${T}`,
    ],
    [
      'a question',
      `Dois-je répondre ${T} ?`,
      `Est-ce COMPLETE ?`,
      `Peut-on dire que c'est terminé ? COMPLETE ?`,
    ],
    [
      'quoted',
      `La consigne dit « ${T} ».`,
      `« ${T} »`,
      `> ${T}\n\nVoilà ce qui est demandé ; je n'y suis pas encore.`,
      `Vous avez écrit :\n> terminer par\n${T}`,
    ],
    [
      'code',
      `La ligne attendue est \`${T}\`.`,
      `La ligne est :\n\n\t${T}`,
      `\`\`\`text\n${T}\n\`\`\``,
      `Exemple : \`\`\`\n\n${T}\n\n\`\`\``,
    ],
    [
      'a field',
      `Statut : pas encore COMPLETE`,
      `Étape 1 : COMPLETE ; étape 2 : en cours`,
      `Objectif : ${T}`,
    ],
    [
      'an abbreviation before it',
      `Il manque la ligne finale, p. ex. ${T}`,
      `Voir la consigne, cf. ${T}`,
      `Reste à faire, c.-à-d. ${T}`,
      `La suite des tests, etc. ${T}`,
    ],
    [
      'taken back behind it',
      `${T}\n\nAttendez, un test échoue encore.`,
      `${T}\n\nCorrection : le déploiement n'est pas fait.`,
      `C'est prêt.\n\nCOMPLETE\n\nEn fait non, il manque les traductions.`,
    ],
    ['an open box behind it', `${T}\n\n* [ ] relire le README`],
    ['a numbered line', `Reste : 1. tests 2. docs 3. ${T}`],
    ['a list of states', `À FAIRE\nEN COURS\nCOMPLETE`],
    [
      'half a sentence',
      `Je ne suis pas encore en mesure de dire que c'est\n${T}`,
      `L'état du projet ne peut pas être considéré comme\nCOMPLETE`,
    ],
  ),
  ...done(
    [
      'on the last line',
      `Tous les tests passent.\n\n${T}`,
      `J'ai corrigé l'erreur et mis à jour la doc.\n\n_${T}_`,
      `C'est terminé !\n${T}`,
      `### Bilan\n1. Corrigé\n2. Testé\n\n${T}`,
      `Rien à signaler.\n\n${T} 🎉`,
    ],
    [
      'behind a sentence',
      `C'est terminé ! ${T}`,
      `Tout est prêt\u00a0! ${T}`,
      `La suite a duré 12 s. ${T}`,
      `Un échec ? Non. ${T}`,
      `Tous les tests passent. 🎉 ${T}`,
    ],
    [
      'bare',
      `La migration est finie.\n\nCOMPLETE`,
      `Tout est vérifié.\nCOMPLETE !`,
      `# Fin\nCOMPLETE`,
      `Le lot est livré.\n\n*COMPLETE*`,
    ],
    ['after a mention', `On m'a demandé ${T} à la fin. Tout est vert.\n\n${T}`],
  ),
  ...missed(
    ['a summary behind it', `${T}\n\nRésumé : trois fichiers modifiés, tout est vert.`],
    ['a bare closing sentence', `Tous les tests passent. COMPLETE`, `C'est fini ! COMPLETE.`],
    ['in quotation marks', `Tout est fait.\n\n« ${T} »`],
  ),
];
