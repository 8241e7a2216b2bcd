{{/* The beginning of all names. */}}
{{- define "zoneplane.name" -}}
{{- if contains "zoneplane" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-zoneplane" (.Release.Name | trunc 30 | trimSuffix "-") }}{{ end }}
{{- end }}

{{/* Labels that select the pods of a part. Takes a dict of `root` and `part`. */}}
{{- define "zoneplane.selector" -}}
app.kubernetes.io/name: zoneplane
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{/* Labels of an object of a part. */}}
{{- define "zoneplane.labels" -}}
{{ include "zoneplane.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name (.root.Chart.Version | replace "+" "_") }}
{{- end }}

{{/* The name of the Secret with PDNS_API_KEY and KEY_ENCRYPTION_KEYS. */}}
{{- define "zoneplane.keys" -}}
{{ .Values.secrets.keys | default (printf "%s-keys" (include "zoneplane.name" .)) }}
{{- end }}

{{/* The names under which clients reach the API, as a list in JSON. */}}
{{- define "zoneplane.hosts" -}}
{{- $names := list .Values.host }}
{{- range list "UPDATE_HOSTS" "CHECK_IP_HOSTS" }}
{{- $names = concat $names (regexSplit "[\\s,]+" (toString (get $.Values.settings .)) -1) }}
{{- end }}
{{- $names | compact | uniq | toJson }}
{{- end }}

{{/* What every pod has: no privileges, and nothing of the cluster in it. Takes a dict of `root` and `values`. */}}
{{- define "zoneplane.pod" -}}
automountServiceAccountToken: false
# Variables of services would look like settings.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- range $name := list "nodeSelector" "tolerations" "affinity" }}
{{- with get $.values $name }}
{{ $name }}: {{ toJson . }}
{{- end }}
{{- end }}
{{- end }}

{{/* Pods of a part are on several nodes if there are. */}}
{{- define "zoneplane.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "zoneplane.selector" . | nindent 8 }}
{{- end }}

{{/* Nodes are drained one pod at a time. Takes a dict of `root`, `part`, `name` and `replicas`. */}}
{{- define "zoneplane.disruption" -}}
{{- if gt .replicas 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  labels: {{- include "zoneplane.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{- include "zoneplane.selector" . | nindent 6 }}
{{- end }}
{{- end }}

{{- define "zoneplane.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{/* A variable from a key of the same name in a Secret. Takes a dict of `secret` and `name`. */}}
{{- define "zoneplane.secretVariable" -}}
- name: {{ .name }}
  valueFrom: { secretKeyRef: { name: {{ .secret | quote }}, key: {{ .key | default .name }} } }
{{- end }}

{{/* How a Service is reached from outside. */}}
{{- define "zoneplane.exposed" -}}
type: {{ .type }}
{{- if ne .type "ClusterIP" }}
externalTrafficPolicy: {{ .externalTrafficPolicy }}
{{- end }}
{{- end }}
