process INTERPLAY_RUN {
    tag "${meta.id}"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "localhost/interplay:latest"

    input:
    tuple val(meta), path(table)
    val target

    output:
    tuple val(meta), path("${prefix}.csv")      , emit: variables
    tuple val(meta), path("${prefix}.html")     , emit: report
    tuple val(meta), path("${prefix}.interplay"), emit: selection
    path "versions.yml"                         , emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = task.ext.prefix ?: "${meta.id}"
    if ("${table}" == "${prefix}.csv") error("Input and output names are the same, set prefix in module configuration to disambiguate!")
    """
    interplay run \\
        ${args} \\
        --target ${target} \\
        --jobs ${task.cpus} \\
        --out ${prefix}.csv \\
        --report ${prefix}.html \\
        --save ${prefix}.interplay \\
        ${table}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        interplay: \$(interplay --version | sed 's/interplay //')
    END_VERSIONS
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.csv ${prefix}.html ${prefix}.interplay

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        interplay: \$(interplay --version | sed 's/interplay //')
    END_VERSIONS
    """
}
